/** Of every gateway before the stack's services. */
export const gatewaySecret = 'the-secret-of-the-e2e-gateway';
