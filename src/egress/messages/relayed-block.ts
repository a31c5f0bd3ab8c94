import type { Part } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { enclose } from '../../canonical/signature.ts'
import { type BlockContext, type BlockWriter, OpenBlock } from './block.ts'
import { writeAnnotation } from './citations.ts'
import { FORMAT } from './content.ts'

/** The deltas by which a block grows, and their field. */
const GROWS: { readonly [type in Part['type']]?: readonly [delta: string, field: string] } = {
  text: ['text_delta', 'text'],
  reasoning: ['thinking_delta', 'thinking'],
  'tool-call': ['input_json_delta', 'partial_json'],
}

/** A block whose beginning reached the caller as it came from the upstream: what follows is written, and nothing else. */
export class RelayedBlock extends OpenBlock implements BlockWriter {
  constructor(part: Part, page: BlockContext) {
    super(page)
    this.open({}, ...(GROWS[part.type] ?? []))
  }

  delta(append: string): void {
    if (append !== '' && this.prefix !== undefined) this.grow(append)
  }

  patch({ signature, annotations = [] }: PartPatch): void {
    if (signature !== undefined)
      this.writeDelta({ type: 'signature_delta', signature: enclose([{ signature }], FORMAT) })
    for (const annotation of annotations) {
      const citation = writeAnnotation(annotation)
      if (citation !== undefined) this.writeDelta({ type: 'citations_delta', citation })
    }
  }

  end(): void {
    this.close()
  }
}
