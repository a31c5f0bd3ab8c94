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
import {
  orNone,
  type PermissionOptions,
  parseDuration,
  parseFutureTime,
  parseList,
  permissionOptions,
} from './permission-options.ts'

type ConfigFile = () => string | undefined

/** Adds the commands `keys`, `groups`, `admin` and `console` to the program. */
export function accessCommands(program: Command, config: ConfigFile, terminal: Terminal): void {
  keyCommands(program.command('keys').description('manage keys for callers'), config, terminal)
  groupCommands(program.command('groups').description('manage groups of keys'), config, terminal)
  adminCommands(program.command('admin').description('manage tokens for the admin API'), config, terminal)
  consoleCommands(program.command('console').description('manage users of the console'), config, terminal)
}

function keyCommands(keys: Command, config: ConfigFile, terminal: Terminal): void {
  const name = new Argument('<name>', 'name of the key')
  keySettings(keys.command('create'), 'group of the key (default: default)')
    .description('create a key and print it; it is shown only once')
    .addArgument(name)
    .action((keyName: string, options: KeyOptions) => createCommand(keyName, options, config(), terminal))
  keys
    .command('list')
    .description('list the keys')
    .option('--json', 'print JSON')
    .option('--all', 'include revoked keys')
    .action((options: { json?: true; all?: true }) => listCommand(options, config(), terminal))
  keys
    .command('show')
    .description('print the settings of a key, without its secrets')
    .addArgument(name)
    .action((keyName: string) => showCommand(keyName, config(), terminal))
  keySettings(keys.command('change'), 'new group of the key')
    .description('change the settings of a key; the value none removes a setting')
    .addArgument(name)
    .option('--name <name>', 'new name of the key')
    .option('--enable', 'enable the key')
    .option('--disable', 'disable the key until it is enabled again')
    .action((keyName: string, options: KeyOptions) => changeCommand(keyName, options, config(), terminal))
  keys
    .command('revoke')
    .description('revoke a key permanently')
    .addArgument(name)
    .action((keyName: string) => revokeCommand(keyName, config(), terminal))
  keys
    .command('rotate')
    .description('replace the secret of a key and print the new one; it is shown only once')
    .addArgument(name)
    .option('--grace <duration>', 'how long the old secret still works', parseDuration, 0)
    .action((keyName: string, { grace }: { grace: number }) => rotateCommand(keyName, grace, config(), terminal))
}

const keySettings = (command: Command, group: string): Command =>
  permissionOptions(
    command
      .option('--group <group>', group)
      .option('--note <text>', 'description of the key', orNone(String))
      .option('--expires <when>', 'expiry: a time, or a duration from now such as 30d', orNone(parseFutureTime)),
  )

function groupCommands(groups: Command, config: ConfigFile, terminal: Terminal): void {
  const name = new Argument('<name>', 'name of the group')
  groups
    .command('list')
    .description('list the groups')
    .option('--json', 'print JSON')
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
    .description('delete a group; its keys are refused afterwards')
    .addArgument(name)
    .action((group: string) => dropGroupCommand(group, config(), terminal))
}

const groupSettings = (command: Command): Command =>
  permissionOptions(
    command.option('--channels <patterns>', 'channels that may answer requests of the group', orNone(parseList)),
  )

function adminCommands(admin: Command, config: ConfigFile, terminal: Terminal): void {
  admin
    .command('token')
    .description('create a token and print it; it is shown only once')
    .argument('[name]', 'name of the token', 'admin')
    .option('--expires <when>', 'expiry: a time, or a duration from now such as 30d', parseFutureTime)
    .action((name: string, options: { expires?: number }) => tokenCommand(name, options, config(), terminal))
  admin
    .command('tokens')
    .description('list the tokens')
    .action(() => tokensCommand(config(), terminal))
  admin
    .command('revoke')
    .description('revoke a token')
    .argument('<id>', 'id of the token, from `admin tokens`')
    .action((id: string) => revokeTokenCommand(id, config(), terminal))
}

function consoleCommands(users: Command, config: ConfigFile, terminal: Terminal): void {
  users
    .command('password')
    .description(
      'set a new random password and print it; it is shown only once. Signs the user out and removes any lockout',
    )
    .argument('[name]', 'name of the user', 'admin')
    .action((name: string) => passwordCommand(name, config(), terminal))
  users
    .command('users')
    .description('list the users')
    .action(() => usersCommand(config(), terminal))
  users
    .command('user')
    .description('manage one user')
    .command('add')
    .description('add a user and print the password; it is shown only once')
    .argument('<name>', 'sign-in name')
    .addOption(new Option('--role <role>', 'role of the user').choices(['admin', 'viewer']).default('viewer'))
    .action((name: string, options: { role: Role }) => addUserCommand(name, options, config(), terminal))
}
