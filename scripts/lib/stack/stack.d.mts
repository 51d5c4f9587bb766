export interface Stack {
  readonly url: string;
  readonly logsDir: string;
  readonly pids: Readonly<Record<'gateway' | 'video-dl' | 'bg-removal', number>>;
  processes(): readonly { readonly pid: number; readonly command: string }[];
  healthy(options?: { timeoutMs?: number }): Promise<void>;
  stop(graceMs?: number): Promise<void>;
}
export function startStack(options: {
  port: number;
  host?: string;
  env?: NodeJS.ProcessEnv;
  logsDir: string;
  freeServicePorts?: boolean;
}): Promise<Stack>;
