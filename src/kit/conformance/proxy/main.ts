import { parseArgs } from 'node:util'
import { openProxy } from './index.ts'

/* The plain proxy as a program: `node main.ts --port PORT --upstream URL`. */

const { values } = parseArgs({ options: { port: { type: 'string' }, upstream: { type: 'string' } } })
await openProxy({ upstream: values.upstream!, port: Number(values.port) })
