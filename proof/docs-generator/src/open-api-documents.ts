import { openApiDocument as bgRemovalDocument } from '@media-services/bg-removal/dist/api/openapi.js';
import { openApiDocument as videoDlDocument } from '@media-services/video-dl/dist/api/openapi.js';
import { withGatewayAnswers } from './gateway-answers.js';

/** What both services answer through the gateway, as OpenAPI documents. */
export const openApiDocuments = {
  'video-dl': withGatewayAnswers(videoDlDocument()),
  'bg-removal': withGatewayAnswers(bgRemovalDocument()),
};
