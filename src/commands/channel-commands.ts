import type { Command } from 'commander'
import { addChannelsCommand, listChannelsCommand, removeChannelCommand, testChannelCommand } from './channels.ts'
import { type Terminal, Unhealthy } from './outcome.ts'

/** Adds the command `channels` to the program. */
export function channelCommands(program: Command, config: () => string | undefined, terminal: Terminal): void {
  const channels = program.command('channels').description('manage channels in the store')
  channels
    .command('list')
    .description('list the channels of the config and of the store')
    .action(() => listChannelsCommand(config(), terminal))
  channels
    .command('add')
    .description('store channels')
    .argument('<file>', 'YAML or JSON with one channel, a list, or `channels`; - for standard input')
    .action((file: string) => addChannelsCommand(file, config(), terminal))
  channels
    .command('remove')
    .description('delete a stored channel')
    .argument('<name>', 'name of the channel')
    .action((name: string) => removeChannelCommand(name, config(), terminal))
  channels
    .command('test')
    .description('list the models of a channel, and send it one small request')
    .argument('<name>', 'name of the channel')
    .action(async (name: string) => {
      if (!(await testChannelCommand(name, config(), terminal))) throw new Unhealthy()
    })
}
