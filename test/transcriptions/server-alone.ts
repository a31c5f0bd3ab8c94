import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'

/* A gateway in a separate process, so that its memory can be measured. The address of its upstream is an argument. */

const testServer = await TestServer.open([channelAt(process.argv[2]!, { format: 'transcriptions' })])
process.stdout.write(`${testServer.server.address}\n`)
