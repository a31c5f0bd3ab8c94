import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AwsSigner } from '../../../src/upstreams/credentials/aws.ts'
import { signatureFault } from '../../builders/clouds/sigv4-verifier.ts'

/** The keys of AWS's published test suite of signatures. */
const ACCESS = 'AKIDEXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const DATE = '20150830T123600Z'
const SCOPE = 'Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request'
const secretOf = (access: string): string | undefined => (access === ACCESS ? SECRET : undefined)

/** Requests of the suite by name, each with the published signature. */
type Vector = readonly [
  method: string,
  url: string,
  headers: { readonly [name: string]: string },
  body: string,
  signature: string,
]
const VECTORS: { readonly [name: string]: Vector } = {
  'get-vanilla': ['GET', '/', {}, '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  'get-vanilla-query-order-key-case': [
    'GET',
    '/?Param2=value2&Param1=value1',
    {},
    '',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  'post-vanilla': ['POST', '/', {}, '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  'post-x-www-form-urlencoded': [
    'POST',
    '/',
    { 'content-type': 'application/x-www-form-urlencoded' },
    'Param1=value1',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
}

describe('the verifier of the tests', () => {
  test.each(Object.entries(VECTORS))(
    'agrees with the published vector %s',
    (_, [method, url, extra, text, signature]) => {
      const signed = ['host', 'x-amz-date', ...Object.keys(extra)].sort().join(';')
      const authorization = `AWS4-HMAC-SHA256 ${SCOPE}, SignedHeaders=${signed}, Signature=${signature}`
      const headers = { host: 'example.amazonaws.com', 'x-amz-date': DATE, ...extra, authorization }
      expect(signatureFault({ method, url, headers, text }, secretOf)).toBeUndefined()
      expect(signatureFault({ method, url, headers, text: `${text} ` }, secretOf)).toMatch(/another signature/)
    },
  )
})

describe('signed requests', () => {
  const signer = new AwsSigner(
    { region: 'us-east-1', service: 'bedrock' },
    { accessKeyId: ACCESS, secretAccessKey: SECRET },
  )

  test('are valid for any path, query, header and body', async () => {
    // AWS resolves dot segments before it verifies. Models with such names are refused.
    const segment = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .map(encodeURIComponent)
      .filter(text => !/^\.\.?$/.test(text))
    const query = fc.array(fc.tuple(fc.string({ maxLength: 6 }), fc.string({ maxLength: 6 })), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(segment, { maxLength: 4 }),
        query,
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('GET', 'POST', 'DELETE'),
        async (segments, pairs, text, method) => {
          const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
          const path = `/${segments.join('/')}${search}`
          const origin = 'https://bedrock-runtime.us-east-1.amazonaws.com:8443'
          const headers = { 'content-type': 'application/json', accept: '*/*', 'anthropic-version': '2023-06-01' }
          const signed = await signer.sign({ method, origin, path, headers, body: text })
          expect(signatureFault({ method, url: path, headers: signed, text }, secretOf)).toBeUndefined()
          expect(signed).toMatchObject({ host: 'bedrock-runtime.us-east-1.amazonaws.com:8443', ...headers })
        },
      ),
      { numRuns: 300 },
    )
  })

  test('state the session token of temporary keys, and are signed with renewed keys', async () => {
    const renewed = new AwsSigner({ region: 'r', service: 's' }, { accessKeyId: 'old', secretAccessKey: 'old' })
    renewed.renew({ accessKeyId: ACCESS, secretAccessKey: SECRET, sessionToken: 'temporary' })
    const request = { method: 'POST', origin: 'https://h', path: '/', headers: {}, body: '{}' }
    const headers = await renewed.sign(request)
    expect(headers['x-amz-security-token']).toBe('temporary')
    expect(signatureFault({ method: 'POST', url: '/', headers, text: '{}' }, secretOf)).toBeUndefined()
  })

  test('leave out the hash of a body that is still streamed', async () => {
    const request = { method: 'POST', origin: 'https://h', path: '/', headers: {}, body: undefined }
    const headers = await signer.sign(request)
    expect(headers['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD')
    expect(signatureFault({ method: 'POST', url: '/', headers, text: 'anything' }, secretOf)).toBeUndefined()
  })
})
