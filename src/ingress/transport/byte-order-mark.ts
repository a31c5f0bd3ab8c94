const BYTE_ORDER_MARK = 0xfeff

/** A text without the mark that may stand in front of it, which says nothing in UTF-8. */
export const withoutByteOrderMark = (text: string): string =>
  text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
