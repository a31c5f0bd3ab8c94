import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ENDPOINTS as ADMIN_ENDPOINTS } from '../../../src/operators/admin/endpoints.ts'
import type { Ask } from '../ask.ts'
import { tryEndpoints } from '../endpoints.ts'
import type { Outcomes } from '../outcomes.ts'
import { Started } from '../started.ts'
import { runsFromBundle } from './bundle.ts'

/**
 * The very first start: no config except a folder for its data, with the built-in upstream, following the program's own
 * advice.
 */
export async function plain(outcomes: Outcomes, checkout: string): Promise<void> {
  const started = await Started.open(checkout, {}, { hasKeys: false })
  try {
    console.log(started.out.replace(/^/gm, '    '))
    const administrator = started.administrator()
    await outcomes.try('the bundle runs', () => runsFromBundle(administrator))
    await tryLines(outcomes, started)
    const { ask, address, key } = started
    await tryEndpoints(outcomes, { ask, address, key, model: 'replay', made: new Map() })
    await tryAdministration(outcomes, administrator)
    await outcomes.try('it stops in order', () => started.stop())
  } finally {
    await started.kill()
  }
}

/** Runs every line to paste that the greeting and `examples` print. */
async function tryLines(outcomes: Outcomes, started: Started): Promise<void> {
  const examples = started.command('examples', '--address', started.address, '--key', started.key)
  const lines = `${started.out}\n${examples}`.split('\n').filter(line => /^ {2}(?:curl|ID=)/.test(line))
  const { status } = await promisify(execFile)('curl', ['--version']).then(
    () => ({ status: 0 }),
    () => ({ status: 1 }),
  )
  if (status !== 0) return outcomes.skip(`${lines.length} printed lines`, 'there is no curl')
  await outcomes.try('a line is printed for each endpoint', () => assert.ok(lines.length >= 15, lines.join('\n')))
  for (const line of lines)
    await outcomes.try(line.trim().replaceAll(started.key, 'KEY').slice(0, 100), async () => {
      // A line that saves a file fails by itself.
      const flags = line.includes(' -sSf ') ? '' : ' --fail-with-body --max-time 60'
      const run = promisify(execFile)('bash', ['-c', line + flags], {
        timeout: 120_000,
        cwd: started.folder,
        encoding: 'buffer',
      })
      const { stdout } = await run.catch(({ stdout }) => Promise.reject(new Error(String(stdout))))
      assert.ok(stdout.length > 0 || line.includes(' -o '))
    })
}

/** Requests everything that administrators can read without naming an object. */
async function tryAdministration(outcomes: Outcomes, administrator: Ask): Promise<void> {
  const readable = ADMIN_ENDPOINTS.filter(({ method, path, live }) => method === 'get' && !path.includes('{') && !live)
  for (const { path } of readable)
    await outcomes.try(`GET /admin/v1${path}`, async () => {
      assert.notEqual((await administrator(`/admin/v1${path}`)).json, undefined)
    })
  await outcomes.try('GET /metrics, as an administrator', async () => {
    assert.match((await administrator('/metrics')).text, /^# TYPE /m)
  })
}
