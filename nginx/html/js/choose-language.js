// Sets the page's language and direction before anything is painted. js/texts.js loads the texts.

// If a script didn't arrive, nothing on the page would work, so load the page again, but only once.
addEventListener(
  'error',
  ({ target }) => {
    const [{ type }] = performance.getEntriesByType('navigation');
    if (target.type === 'module' && type !== 'reload') location.reload();
  },
  true,
);

(() => {
  const tags = { en: 'en', de: 'de', es: 'es', fr: 'fr', pt: 'pt-BR', ja: 'ja', zh: 'zh-Hans', ar: 'ar' };
  let chosen = '';
  try {
    chosen = localStorage.getItem('language') ?? '';
  } catch {
    // Without storage, use the browser's languages.
  }
  const name =
    [chosen, ...navigator.languages]
      .map((tag) => tag.toLowerCase().split('-')[0])
      .find((each) => Object.hasOwn(tags, each)) ?? 'en';
  const root = document.documentElement;
  root.lang = tags[name];
  root.dir = name === 'ar' ? 'rtl' : 'ltr';
  // Hide the page until its texts are loaded, so that nobody sees the language change.
  root.classList.toggle('is-translating', name !== 'en');
  const texts = Object.assign(document.createElement('link'), {
    rel: 'modulepreload',
    href: `js/languages/${name}.js`,
  });
  document.head.append(texts);
})();
