/* global SwaggerUIBundle */
const services = ['video-dl', 'bg-removal'];
const asked = new URLSearchParams(location.search).get('service');
const service = services.includes(asked) ? asked : services[0];
const documentUrl = new URL(`${service}.openapi.json`, location.href).href;

for (const link of document.querySelectorAll('[data-service]')) {
  if (link.dataset.service === service) link.setAttribute('aria-current', 'page');
}
document.getElementById('document').href = documentUrl;

const darkness = matchMedia('(prefers-color-scheme: dark)');
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', darkness.matches);
applyScheme();
darkness.addEventListener('change', applyScheme);

const ui = SwaggerUIBundle({
  url: documentUrl,
  dom_id: '#api',
  deepLinking: true,
  // Everything is folded at first, but for the list of endpoints.
  docExpansion: 'none',
  onComplete: () => ui.layoutActions.show(['operations-tag', 'endpoints'], true),
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  // Its own validator is an outside service.
  validatorUrl: 'none',
});
