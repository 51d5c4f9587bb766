// Variables that our configuration always sets.
interface NginxVariables {
  gateway_base_path: string;
  gateway_root: string;
  gateway_run_dir: string;
  gateway_services: string;
  request_path: string;
  api_key: string;
}
