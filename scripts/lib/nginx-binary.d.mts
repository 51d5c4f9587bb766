export function findNginx(env?: NodeJS.ProcessEnv): {
  nginx: string | undefined;
  njsModule: string | undefined;
  version: string | undefined;
};
export function gatewayArguments(runDir: string): string[];
