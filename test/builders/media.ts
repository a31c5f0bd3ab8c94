/** A whole PNG of one pixel, in base64. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The media type of raw samples as Google's models answer them. */
export const RAW_SPEECH = 'audio/L16;codec=pcm;rate=24000'
