/** A complete PNG of one pixel, in base64. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Media type of raw samples in the answers of Google's models. */
export const RAW_SPEECH = 'audio/L16;codec=pcm;rate=24000'

/** Returns the form of a transcription request with its headers. */
export const form = (format: string): string =>
  [
    ...['model', 'm', 'response_format', format].flatMap((word, at) =>
      at % 2 === 0 ? [`--x\r\ncontent-disposition: form-data; name="${word}"\r\n`] : [word],
    ),
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n',
    'sound',
    '--x--\r\n',
  ].join('\r\n')
export const FORM = { 'content-type': 'multipart/form-data; boundary=x' }
