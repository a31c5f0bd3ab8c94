const BYTE_ORDER_MARK = 0xfeff

/** A text without a byte order mark in front, which has no meaning in UTF-8. */
export const withoutByteOrderMark = (text: string): string =>
  text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
