export { renderGateway, substitute, type GatewayVariables } from './gateway/render-gateway.js';
export { gatewayArguments, startNginx, type RunningGateway } from './gateway/nginx.js';
export { onFreePort, PortInUseError } from './runner/free-port.js';
export { panel } from './runner/panel.js';
export { deathMessage } from './runner/child.js';
export { startHealthyStack, startStack, type Stack, type StackOptions } from './runner/stack.js';
export { stopRequested } from './runner/stop-signals.js';
