/** Codes whose answers speak to programs: what the reader of this page can make of them. */
const words = {
  invalid_url: {
    title: 'This is not the link of a page',
    detail: 'Paste the whole link of the page that plays the video, as your browser shows it.',
  },
  forbidden_address: {
    title: 'This link is not public',
    detail:
      'It, or a page that it leads to, is inside a private network. Only pages that anybody can open can be looked up here.',
  },
  unauthorized: {
    title: 'This server asks for an access key',
    detail:
      'Whoever runs it has given keys to the people who may use it. Enter yours; it is sent to this server only.',
  },
  missing_file: {
    title: 'The image did not arrive',
    detail: 'What was sent is empty. Choose the image again.',
  },
  unsupported_media_type: {
    title: 'This kind of file cannot be used',
    detail: 'Choose a JPEG, PNG or WebP image.',
  },
  unreadable_image: {
    title: 'The image cannot be read',
    detail:
      'The file is damaged or cut off. Open it in another program, save it again, then choose that copy.',
  },
  no_foreground: {
    title: 'No subject found',
    detail: 'Nothing in this image stands out from its background. Try one with a clear subject.',
  },
  internal_error: {
    title: 'Something failed on the server',
    detail:
      'This should not have happened. Tell whoever runs this server, with the reference under “Details”.',
  },
};

/** The same problem, said to a person. */
export function inLayWords(problem) {
  const { title, detail } = words[problem.code] ?? problem;
  return { ...problem, title, detail: detail.replaceAll('`', '') };
}
