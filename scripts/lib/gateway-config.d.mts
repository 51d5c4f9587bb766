export const gatewayDefaults: Readonly<Record<string, string>>;
export function substitute(text: string, variables: Readonly<Record<string, string>>): string;
export function renderGateway(options: {
  gatewayDir: string;
  runDir: string;
  variables: Readonly<Record<string, string>>;
}): string;
