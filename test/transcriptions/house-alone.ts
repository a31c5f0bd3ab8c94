import { channelAt } from '../builders/config.ts'
import { House } from '../builders/gateway.ts'

/* A gateway in a process of its own, so that its memory can be measured: its upstream's address comes as an argument. */

const house = await House.open([channelAt(process.argv[2]!, { format: 'transcriptions' })])
process.stdout.write(`${house.server.address}\n`)
