import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Certificates, hasOpenssl } from '../../builders/certificate.ts'
import { SAID, TURNS } from '../endpoints/said.ts'
import type { Outcomes } from '../outcomes.ts'
import { Session, spokenTo } from '../session.ts'
import { KEY, Started } from '../started.ts'
import { runsFromBundle } from './bundle.ts'

/** HTTPS and WSS with a certificate that signed itself. */
export async function tls(outcomes: Outcomes, checkout: string): Promise<void> {
  if (!hasOpenssl) return outcomes.skip('TLS', 'there is no openssl')
  const certificates = new Certificates()
  const { cert, key, pem } = certificates.make('gateway')
  const started = await Started.open(checkout, { server: { tls: { cert, key } } }, { ca: pem })
  try {
    await outcomes.try('the bundle runs', () => runsFromBundle(started.administrator()))
    await outcomes.try('the printed line works as it is', async () => {
      const line = started.out.split('\n').find(line => line.startsWith('  curl '))!
      const run = promisify(execFile)('bash', ['-c', `${line.replace('$INTERLINGUA_KEY', KEY)} --fail-with-body`])
      assert.ok((await run).stdout.length > 0)
    })
    await outcomes.try('a request is answered', async () => {
      const body = { model: 'replay', messages: TURNS }
      assert.equal((await started.ask('/v1/chat/completions', { body })).json.choices[0].message.content, SAID)
    })
    await outcomes.try('a voice session is held', async () => {
      const session = new Session(started.address, { key: KEY, path: '/v1/realtime?model=replay', ca: pem })
      assert.match(await spokenTo(session).finally(() => session.close()), /\w/)
    })
    await outcomes.try('it stops in order', () => started.stop())
  } finally {
    await started.kill()
    certificates.close()
  }
}
