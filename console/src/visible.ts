import { options } from 'preact'

/**
 * Characters that change the order of the text around them, or that nobody sees. Joiners are invisible beside ASCII
 * only; other scripts and emoji need them. The command line escapes the same ones.
 */
const HIDDEN =
  /[\p{Bidi_Control}\u200b\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]|(?<=[\x21-\x7e])[\u200c\u200d]|[\u200c\u200d](?=[\x21-\x7e])/gu

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/**
 * Shows hidden characters of all texts as escapes. Callers choose the names of models, and administrators the names of
 * keys: such a name must not look like another one, nor reorder the text around it.
 */
export function showHidden(): void {
  const before = options.vnode
  options.vnode = vnode => {
    // The props of a text are the text itself, which the types leave out.
    const text: { props: unknown } = vnode
    if (typeof text.props === 'string') text.props = text.props.replace(HIDDEN, escaped)
    before?.(vnode)
  }
}
