/** Error codes in words for the people who use the page. A problem without a detail here keeps the server's. */
const words = {
  invalid_request: { title: 'The server didn’t accept the request' },
  invalid_url: {
    title: 'This isn’t the link of a page',
    detail: 'Paste the whole link of the page that plays the video, as your browser shows it.',
  },
  unauthorized: {
    title: 'This server requires an access key',
    detail: 'Enter the key you got from the person who runs it. It is sent to this server only.',
  },
  forbidden_address: {
    title: 'This link isn’t public',
    detail:
      'It leads into a private network, directly or through a redirect. Only pages that anyone can open work here.',
  },
  private_video: {
    title: 'This video is private',
    detail: 'Only people its owner has invited can watch it. Ask the owner to make it public.',
  },
  login_required: {
    title: 'The site asks for a login',
    detail: 'This video is only for people who are logged in. Try another source of it.',
  },
  age_restricted: {
    title: 'This video is age-restricted',
    detail: 'The site shows it only to people who are logged in and old enough. Try another source of it.',
  },
  video_not_found: {
    title: 'Video not found',
    detail: 'It was removed, or the link is wrong. Open it in your browser to check.',
  },
  not_started: {
    title: 'This video hasn’t started yet',
    detail: 'Try again once it has been published.',
  },
  live_not_supported: {
    title: 'Live broadcasts aren’t supported',
    detail: 'Try again after the broadcast, once the site offers the recording.',
  },
  playlist_not_supported: {
    title: 'This is a playlist or channel',
    detail: 'Paste the link of one video, or the links of several.',
  },
  unsupported_url: {
    title: 'This page isn’t supported',
    detail: 'No video was found here. Paste the link of the page that plays the video itself.',
  },
  no_media: {
    title: 'Nothing to download here',
    detail: 'The page has no video or audio of the kind you asked for.',
  },
  drm_protected: {
    title: 'This video is copy-protected',
    detail: 'Its site encrypts it (DRM), so it can’t be saved.',
  },
  too_long: { title: 'This video is too long', detail: 'Try a shorter one, or its audio only.' },
  geo_blocked: {
    title: 'Not available in this server’s country',
    detail: 'The site doesn’t show this video where the server is.',
  },
  upstream_unreachable: {
    title: 'The site can’t be reached',
    detail: 'Check the link, then try again in a few minutes.',
  },
  upstream_error: {
    title: 'The site didn’t deliver the video',
    detail: 'Something failed between this server and the site. Try again in a few minutes.',
  },
  upstream_timeout: {
    title: 'The site takes too long',
    detail: 'It didn’t respond in time. Try again in a few minutes.',
  },
  upstream_rate_limited: {
    title: 'The site is limiting requests',
    detail: 'It has received too many requests from this server. Try again later.',
  },
  bot_check: {
    title: 'The site wants proof that you’re human',
    detail: 'It currently blocks this server. Try again later.',
  },
  rate_limited: {
    title: 'Too many requests',
    detail: 'This server limits how many requests each person can send in a minute.',
  },
  overloaded: {
    title: 'The server is busy',
    detail: 'Others are using it right now. Try again in a moment.',
  },
  engine_unavailable: {
    title: 'The server is starting',
    detail: 'This part of it isn’t ready yet. Try again in a moment.',
  },
  timeout: { title: 'This took too long', detail: 'The server stopped after its time limit. Try again.' },
  not_found: { title: 'Not found', detail: 'Reload the page, then try again.' },
  method_not_allowed: { title: 'Not supported', detail: 'Reload the page, then try again.' },
  missing_file: {
    title: 'The image didn’t arrive',
    detail: 'The file is empty. Choose the image again.',
  },
  file_too_large: { title: 'The image is too large', detail: 'Choose a smaller file, or save it as JPEG.' },
  image_too_large: {
    title: 'The image has too many pixels',
    detail: 'Make it smaller, then choose it again.',
  },
  unsupported_media_type: {
    title: 'This kind of file isn’t supported',
    detail: 'Choose a JPEG, PNG or WebP image.',
  },
  unreadable_image: {
    title: 'The image can’t be read',
    detail:
      'The file is damaged or incomplete. Open it in another program, save a copy, then choose the copy.',
  },
  no_foreground: {
    title: 'No subject found',
    detail: 'Nothing in this image stands out from its background. Try one with a clear subject.',
  },
  internal_error: {
    title: 'Something failed on the server',
    detail: 'Please report it to the person who runs this server, with the reference under “Details”.',
  },
};

/** The same problem in words for the people who use the page. */
export function inLayWords(problem) {
  const { title, detail } = { ...problem, ...words[problem.code] };
  return { ...problem, title, detail: detail.replaceAll('`', '') };
}
