import { openApiDocument as bgRemovalDocument } from '@media-services/bg-removal/dist/api/openapi.js';
import { openApiDocument as videoDlDocument } from '@media-services/video-dl/dist/api/openapi.js';
import { withGatewayAnswers } from './gateway-answers.js';

/** The OpenAPI documents of both services behind the gateway. */
export const openApiDocuments = {
  'video-dl': withGatewayAnswers(videoDlDocument()),
  'bg-removal': withGatewayAnswers(bgRemovalDocument()),
};
