import type { Json } from '../../src/canonical/node.ts'
import type { Broken } from './target.ts'

/** An input that breaks a law. */
export interface Finding {
  readonly target: string
  readonly law: string
  readonly message: string
  /** The smallest input that was found to break the law in the same way. */
  readonly input: Json
}

/** Returns the number of characters of an input. Undefined for one that JSON cannot express. */
export function sizeOf(input: Json): number | undefined {
  try {
    return typeof input === 'string' ? input.length : JSON.stringify(input).length
  } catch {
    return undefined
  }
}

/** Names the way in which a law is broken: findings that differ only in numbers and quoted texts are the same. */
export function kindOf({ law, message }: Broken): string {
  const at = /\/(src\/[^:]+\.ts:\d+)/.exec(message)?.[1] ?? ''
  const [first = ''] = message.split('\n')
  const plain =
    law === 'exception'
      ? first
          .replace(/(["'`]).*\1/g, '…')
          .replace(/\d+/g, 'N')
          .slice(0, 80)
      : ''
  return `${law} ${at} ${plain}`
}
