import type { OpaquePart, ToolCallPart } from '../../canonical/content.ts'
import type { PartPatch } from '../../canonical/event.ts'
import { type JsonObject, stringIn } from '../../canonical/node.ts'
import { callBlock } from './answer.ts'
import { type BlockContext, type BlockWriter, OpenBlock } from './block.ts'

/** A call; one without arguments gets an empty object as its only delta (trap 8). */
export class CallBlock extends OpenBlock implements BlockWriter {
  constructor(part: ToolCallPart, page: BlockContext) {
    super(page)
    this.open({ ...callBlock(part, {}), input: {} }, 'input_json_delta', 'partial_json')
  }

  delta(append: string): void {
    if (append === '') return
    this.grown = true
    this.grow(append)
  }

  /** A patch has the whole call: arguments that are not written yet are written now. */
  patch({ part }: PartPatch): void {
    if (part?.type === 'tool-call' && !this.grown) this.delta(part.arguments)
  }

  end(): void {
    if (!this.grown) this.grow('{}')
    this.close()
  }
}

/** A call whose argument is text: it is sent as an object of one string. */
export class WrappedCallBlock extends OpenBlock implements BlockWriter {
  constructor(part: ToolCallPart, page: BlockContext) {
    super(page)
    this.open({ ...callBlock(part, {}), input: {} }, 'input_json_delta', 'partial_json')
    this.grow('{"input":"')
    this.prefix = undefined
  }

  delta(append: string): void {
    this.writeDelta({ type: 'input_json_delta', partial_json: JSON.stringify(append).slice(1, -1) })
  }

  patch(): void {}

  end(): void {
    this.writeDelta({ type: 'input_json_delta', partial_json: '"}' })
    this.close()
  }
}

/** The blocks of this format that are streamed, by type: the field sent in a delta. */
const STREAMED: { readonly [type: string]: 'input' | 'content' } = {
  server_tool_use: 'input',
  mcp_tool_use: 'input',
  compaction: 'content',
}

/** A block that only this format defines, written when it is complete. */
export class OpaqueBlock extends OpenBlock implements BlockWriter {
  private value: JsonObject

  constructor(part: OpaquePart, page: BlockContext) {
    super(page)
    this.value = part.value
  }

  delta(): void {}

  patch({ part }: PartPatch): void {
    if (part?.type === 'opaque') this.value = part.value
  }

  end(): void {
    const type = stringIn(this.value['type'])
    const field = Object.hasOwn(STREAMED, type) ? STREAMED[type] : undefined
    const value = field === undefined ? undefined : this.value[field]
    if (value === undefined || value === null) this.open(this.value)
    else if (field === 'input') {
      this.open({ ...this.value, input: {} })
      this.writeDelta({ type: 'input_json_delta', partial_json: JSON.stringify(value) })
    } else {
      this.open({ ...this.value, content: null })
      this.writeDelta({ type: 'compaction_delta', content: value })
    }
    this.close()
  }
}
