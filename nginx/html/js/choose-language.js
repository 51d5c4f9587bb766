// Sets the page's language and direction before anything is painted. js/texts.js loads the texts.

// If a script didn't arrive, nothing on the page would work, so load the page again, each time later.
addEventListener(
  'error',
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement)) return;
    const tries = Number(history.state?.reloads ?? 0);
    history.replaceState({ ...history.state, reloads: tries + 1 }, '');
    setTimeout(() => location.reload(), tries === 0 ? 0 : Math.min(2 ** tries, 30) * 1000);
  },
  true,
);

(() => {
  /** @type {Record<string, string>} */
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
  for (const each of new Set([name, 'en'])) {
    const texts = { rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: `texts/${each}.json` };
    document.head.append(Object.assign(document.createElement('link'), texts));
  }
})();
