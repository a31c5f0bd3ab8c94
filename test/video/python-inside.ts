import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { KEY } from '../builders/config.ts'
import { VideoStage } from './stage.ts'
import type { Kind } from './upstreams/index.ts'

/* Inside the network namespace: an upstream, the gateway in front of it, and the library's program. */

const [kind, python] = process.argv.slice(2) as [Kind, string]
const stage = await VideoStage.open(kind, { tasks: { poll: 100 } })
const child = spawn(python, [join(import.meta.dirname, 'clients/videos.py')], {
  env: { PYTHONDONTWRITEBYTECODE: '1', OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${stage.testServer.server.address}/v1` },
  stdio: ['pipe', 'pipe', 'inherit'],
})
let out = ''
child.stdout.on('data', data => {
  out += data
  // The program requests a task that content moderation stops.
  if (String(data).includes('fail next')) {
    stage.upstream.life = { queued: 0, running: 0, outcome: 'review' }
    child.stdin.write('ready\n')
  }
})
const code = await new Promise<number>(resolve => child.on('close', status => resolve(status ?? 1)))
const submits = [stage.upstream.count('submit'), stage.upstream.count('remix')]
await stage.close()
if (code === 0) console.log(JSON.stringify({ ...JSON.parse(out.trim().split('\n').at(-1)!), submits }))
process.exitCode = code
