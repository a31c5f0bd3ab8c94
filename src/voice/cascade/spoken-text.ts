/** Markup and symbols to remove from a text before it is spoken. */
const REPLACEMENTS: readonly (readonly [sign: RegExp, words: string])[] = [
  [/!?\[([^[\]]*)\]\([^)[]*\)/g, '$1'],
  [/`{1,3}|~~|(?<!\w)_{1,2}|_{1,2}(?!\w)/g, ''],
  [/(?<![\p{L}\p{N}*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\p{L}\p{N}*])/gu, ''],
  [/\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u200d|\ufe0f/gu, ''],
  [/^[ \t]*(?:#{1,6}|>|[-+•])\s+/gm, ''],
]

/** Strips Markdown and emoji from a sentence. */
export const spokenText = (text: string): string =>
  REPLACEMENTS.reduce((words, [sign, instead]) => words.replace(sign, instead), text).trim()
