/** Matches base64 with its padding (https://www.rfc-editor.org/rfc/rfc4648#section-4). */
export const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
