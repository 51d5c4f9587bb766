export { freePort } from '@media-services/stack/set-up';
export { renderGateway, substitute, type GatewayVariables } from './gateway/render-gateway.js';
export { startNginx, type RunningGateway } from './gateway/nginx.js';
export { panel } from './runner/panel.js';
export { Stack, deathMessage, startHealthyStack, startStack, type StackOptions } from './runner/stack.js';
export { stopRequested } from './runner/stop-signals.js';
