import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'

/* A gateway in a process of its own, so that its memory can be measured: its upstream's address comes as an argument. */

const testServer = await TestServer.open([channelAt(process.argv[2]!, { format: 'transcriptions' })])
process.stdout.write(`${testServer.server.address}\n`)
