/* global SwaggerUIBundle */
const services = ['video-dl', 'bg-removal'];
const asked = new URLSearchParams(location.search).get('service');
const service = services.includes(asked) ? asked : services[0];
const documentUrl = `${service}.openapi.json`;

for (const link of document.querySelectorAll('[data-service]')) {
  if (link.dataset.service === service) link.setAttribute('aria-current', 'page');
}
document.getElementById('document').href = documentUrl;

const darkness = matchMedia('(prefers-color-scheme: dark)');
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', darkness.matches);
applyScheme();
darkness.addEventListener('change', applyScheme);

SwaggerUIBundle({
  url: documentUrl,
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // Its own validator is an outside service.
  validatorUrl: 'none',
});
