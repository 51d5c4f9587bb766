import sharp from 'sharp';

// Images are never seen twice; a cache would only keep memory.
sharp.cache(false);

export { sharp };
