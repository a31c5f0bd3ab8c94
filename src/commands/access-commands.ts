import { Argument, type Command, Option } from 'commander'
import type { Role } from '../store/console-records.ts'
import { revokeTokenCommand, tokenCommand, tokensCommand } from './admin.ts'
import { addUserCommand, passwordCommand, usersCommand } from './console.ts'
import { changeGroupCommand, createGroupCommand, dropGroupCommand, listGroupsCommand } from './groups.ts'
import {
  changeCommand,
  createCommand,
  type KeyOptions,
  listCommand,
  revokeCommand,
  rotateCommand,
  showCommand,
} from './keys.ts'
import type { Terminal } from './outcome.ts'
import { duration, given, list, type PermissionOptions, permissionOptions, timeToCome } from './permission-options.ts'

type ConfigFile = () => string | undefined

/** Adds `keys`, `groups`, `admin` and `console`. */
export function accessCommands(program: Command, config: ConfigFile, terminal: Terminal): void {
  keyCommands(program.command('keys').description('the keys of callers'), config, terminal)
  groupCommands(program.command('groups').description('groups of keys'), config, terminal)
  adminCommands(program.command('admin').description('tokens for the admin API'), config, terminal)
  consoleCommands(program.command('console').description('users of the console'), config, terminal)
}

function keyCommands(keys: Command, config: ConfigFile, terminal: Terminal): void {
  const name = new Argument('<name>', 'the name of the key')
  keySettings(keys.command('create'), 'the group it belongs to (default: default)')
    .description('create a key and print it, only this once')
    .addArgument(name)
    .action((keyName: string, options: KeyOptions) => createCommand(keyName, options, config(), terminal))
  keys
    .command('list')
    .description('list the keys')
    .option('--json', 'for programs')
    .option('--all', 'revoked ones, too')
    .action((options: { json?: true; all?: true }) => listCommand(options, config(), terminal))
  keys
    .command('show')
    .description('print all of a key but its secrets')
    .addArgument(name)
    .action((keyName: string) => showCommand(keyName, config(), terminal))
  keySettings(keys.command('change'), 'the group it belongs to from now on')
    .description('change what a key may do; the value none removes a setting')
    .addArgument(name)
    .option('--name <name>', 'its new name')
    .option('--enable', 'let it be used again')
    .option('--disable', 'refuse it until it is enabled again')
    .action((keyName: string, options: KeyOptions) => changeCommand(keyName, options, config(), terminal))
  keys
    .command('revoke')
    .description('end a key for good')
    .addArgument(name)
    .action((keyName: string) => revokeCommand(keyName, config(), terminal))
  keys
    .command('rotate')
    .description('replace a key by a new one and print that, only this once')
    .addArgument(name)
    .option('--grace <duration>', 'how long the old one works, too', duration, 0)
    .action((keyName: string, { grace }: { grace: number }) => rotateCommand(keyName, grace, config(), terminal))
}

const keySettings = (command: Command, group: string): Command =>
  permissionOptions(
    command
      .option('--group <group>', group)
      .option('--note <text>', 'what it is for', given(String))
      .option('--expires <when>', 'when it ends: a time, or one from now such as 30d', given(timeToCome)),
  )

function groupCommands(groups: Command, config: ConfigFile, terminal: Terminal): void {
  const name = new Argument('<name>', 'the name of the group')
  groups
    .command('list')
    .description('list the groups')
    .option('--json', 'for programs')
    .action((options: { json?: true }) => listGroupsCommand(options, config(), terminal))
  groupSettings(groups.command('create'))
    .description('create a group')
    .addArgument(name)
    .action((group: string, options: PermissionOptions) => createGroupCommand(group, options, config(), terminal))
  groupSettings(groups.command('change'))
    .description('change a group; the value none removes a setting')
    .addArgument(name)
    .action((group: string, options: PermissionOptions) => changeGroupCommand(group, options, config(), terminal))
  groups
    .command('drop')
    .description('drop a group; its keys are refused then')
    .addArgument(name)
    .action((group: string) => dropGroupCommand(group, config(), terminal))
}

const groupSettings = (command: Command): Command =>
  permissionOptions(command.option('--channels <patterns>', 'the channels that may answer its requests', given(list)))

function adminCommands(admin: Command, config: ConfigFile, terminal: Terminal): void {
  admin
    .command('token')
    .description('create a token and print it, only this once')
    .argument('[name]', 'whose it is', 'admin')
    .option('--expires <when>', 'when it ends: a time, or one from now such as 30d', timeToCome)
    .action((name: string, options: { expires?: number }) => tokenCommand(name, options, config(), terminal))
  admin
    .command('tokens')
    .description('list the tokens')
    .action(() => tokensCommand(config(), terminal))
  admin
    .command('revoke')
    .description('end a token')
    .argument('<id>', 'its id, as `admin tokens` lists it')
    .action((id: string) => revokeTokenCommand(id, config(), terminal))
}

function consoleCommands(users: Command, config: ConfigFile, terminal: Terminal): void {
  users
    .command('password')
    .description('give a user a new password and print it, only this once; sessions and locks of the user end')
    .argument('[name]', 'whose it is', 'admin')
    .action((name: string) => passwordCommand(name, config(), terminal))
  users
    .command('users')
    .description('list the users')
    .action(() => usersCommand(config(), terminal))
  users
    .command('user')
    .description('single users')
    .command('add')
    .description('add a user and print the password, only this once')
    .argument('<name>', 'the name to sign in with')
    .addOption(new Option('--role <role>', 'what the user may do').choices(['admin', 'viewer']).default('viewer'))
    .action((name: string, options: { role: Role }) => addUserCommand(name, options, config(), terminal))
}
