import { expect, it } from 'vitest'
import { embeddings as writer } from '../../../src/egress/embeddings/index.ts'
import { embeddings as reader } from '../../../src/ingress/embeddings/index.ts'

const REQUEST = {
  model: 'm',
  messages: [],
  output: { modalities: ['embedding'] },
  sampling: {},
  stream: false,
} as const

it.each(['null', '5', '"a"', '[]'])('an upstream’s list is sent unchanged, with %s beside its vectors', rubbish => {
  const text = `{"object":"list","data":[${rubbish},{"embedding":[0.1],"index":0}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}`
  const bodies = [JSON.parse(text), reader.parse!(text)!]
  for (const body of bodies) {
    const result = reader.result!({ status: 200, headers: {}, body }, REQUEST)
    const { wire } = writer.result!(result, REQUEST)
    const written = wire.raw === undefined ? wire.body : JSON.parse((wire.raw as { readonly text: string }).text)
    expect(written).toEqual(JSON.parse(text))
  }
})
