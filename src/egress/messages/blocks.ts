import type { Part } from '../../canonical/content.ts'
import type { BlockContext, BlockWriter } from './block.ts'
import { FORMAT } from './content.ts'
import { HiddenBlock, OpaqueTextBlock, RefusalBlock, TextBlock, ThinkingBlock } from './text-blocks.ts'
import { CallBlock, OpaqueBlock, WrappedCallBlock } from './tool-blocks.ts'

/** The writer of the part; only for parts that have a block. */
export function blockWriter(part: Part, page: BlockContext): BlockWriter {
  switch (part.type) {
    case 'text':
      return new TextBlock(part, page)
    case 'refusal':
      return new RefusalBlock(part, page)
    case 'reasoning':
      return part.redacted ? new HiddenBlock(part, page) : new ThinkingBlock(part, page)
    case 'tool-call':
      return part.freeform ? new WrappedCallBlock(part, page) : new CallBlock(part, page)
    case 'opaque':
      if (part.format === FORMAT) return new OpaqueBlock(part, page)
      return new OpaqueTextBlock({ type: 'text', text: part.text ?? '' }, page)
    default:
      throw new TypeError(`A ${part.type} has no block.`)
  }
}

/** Whether the format has a block for the part. */
export const hasBlock = (part: Part): boolean =>
  part.type === 'opaque' ? part.format === FORMAT || part.text !== undefined : BLOCKS.has(part.type)

const BLOCKS: ReadonlySet<Part['type']> = new Set(['text', 'refusal', 'reasoning', 'tool-call'])
