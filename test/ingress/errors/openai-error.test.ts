import { describe, expect, it } from 'vitest'
import { readInnerError } from '../../../src/ingress/errors/openai-error.ts'
import { readInnerError as readInnerErrorOfResponses } from '../../../src/ingress/responses/error.ts'

describe('errors inside answers of OpenAI’s formats', () => {
  it.each(['no_image', 'image_generation_failed'])(
    '%s is the upstream’s failure: another upstream may succeed',
    code => {
      expect(readInnerError({ error: { message: 'm', type: 'server_error', code } }).kind).toBe('upstream-failed')
      expect(readInnerErrorOfResponses({ message: 'm', code }).kind).toBe('upstream-failed')
    },
  )

  it.each(['image_too_large', 'failed_to_download_image', 'invalid_base64_image'])('%s is the caller’s fault', code => {
    expect(readInnerErrorOfResponses({ message: 'm', code }).kind).toBe('invalid-request')
  })
})
