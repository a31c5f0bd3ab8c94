import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ModelFacts } from '../../src/config/index.ts'
import { Certificates } from '../builders/certificate.ts'
import { ASK } from '../builders/chat.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import type { Script } from '../builders/upstream.ts'
import type { ConsoleGateway } from './gateway.ts'
import { furnish } from './scenery.ts'
import { answers, fails, openBefore } from './upstreams.ts'

const [EXHAUSTED, WORKING] = ['upstream-key-of-pool-1111', 'upstream-key-of-pool-2222']

const POOL: Script = (response, seen) =>
  seen.headers.authorization === `Bearer ${EXHAUSTED}`
    ? fails(402, 'You exceeded your current quota.')(response, seen)
    : answers(response, seen)

const PRICED: ModelFacts = {
  id: 'gpt-5.6',
  input: [],
  output: [],
  price: { input: 1.25, output: 10, cacheRead: 0.125 },
}

/**
 * A gateway that is broken on purpose: an upstream key without credit, a channel with a wrong certificate, a model
 * without a price, and a key at its limit. With `isFurnished`, it also has a month of usage.
 */
export async function openBroken({ isFurnished = false } = {}): Promise<ConsoleGateway> {
  const certificates = new Certificates()
  const { pem: cert, key } = certificates.make('wrong')
  const server = createServer({ cert, key: readFileSync(key) }, (_, response) => response.end())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const gateway = await openBefore(
    [
      { name: 'pool', models: ['gpt-5.6'], formats: ['chat'], keys: [EXHAUSTED!, WORKING!], script: POOL },
      {
        ...{ name: 'wrong-certificate', models: ['gpt-4o'], formats: ['chat'] },
        base_url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
      },
      { name: 'own', provider: 'custom', models: ['house-model'], formats: ['chat'], script: answers },
    ],
    { models: [PRICED] },
  )
  const { admin } = gateway
  const { secret } = (await admin.post('/keys', { name: 'limited-app', rpm: 1 })).json
  const ask = (model: string, text: string, headers = {}) =>
    admin.testServer.ask(CHAT_PATH, { ...ASK, model, messages: [{ role: 'user', content: text }] }, { headers })
  // Each conversation draws a key of the pool; the exhausted one leads to the other.
  for (let count = 0; count < 12; count++) await ask('gpt-5.6', `${count}`)
  for (let count = 0; count < 3; count++) await ask('gpt-4o', 'Hello?')
  for (let count = 0; count < 2; count++) await ask('house-model', 'Hello?')
  for (let count = 0; count < 4; count++) await ask('gpt-5.6', 'Hello?', { authorization: `Bearer ${secret}` })
  if (isFurnished) await furnish(gateway)
  return {
    ...gateway,
    close: async () => {
      await gateway.close()
      await new Promise<void>(resolve => server.close(() => resolve()))
      certificates.close()
    },
  }
}
