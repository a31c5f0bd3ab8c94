import { Command, CommanderError, Option } from 'commander'
import { suggestion } from '../config/faults.ts'
import { version } from '../version.ts'
import { DONE, FAILED, type Terminal, Unhealthy, USAGE, UsageError } from './outcome.ts'
import { hostOf, portOf } from './ports.ts'
import type { TranslateOptions } from './translate.ts'
import { USAGE_FIELDS, type UsageOptions } from './usage-options.ts'

/** Runs a command line (without the program name) and returns the exit code. */
export async function commandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = await programOf(args, terminal)
  try {
    await program.parseAsync(args, { from: 'user' })
    return DONE
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? DONE : USAGE
    if (thrown instanceof Unhealthy) return FAILED
    terminal.fault((thrown as Error).message)
    return thrown instanceof UsageError ? USAGE : FAILED
  }
}

/** Returns true if the command is `serve`, which does not load modules that only other commands need. */
const serves = (args: readonly string[]): boolean => args.length === 0 || args[0] === 'serve'

/**
 * Matches commander's error for an unknown command, which commander mistakes for an argument of the default command.
 */
const UNKNOWN_COMMAND = /too many arguments for 'serve'.*: ([^\s,.]+).*/

const unknownCommand = (name: string, program: Command): string =>
  `unknown command '${name}'${suggestion(
    name,
    program.commands.map(command => command.name()),
  )}`

async function programOf(args: readonly string[], terminal: Terminal): Promise<Command> {
  const program = new Command('interlingua')
    .description('A self-hosted gateway that connects any AI client to any AI model, each in its own request format.')
    .version(version())
    .option('-c, --config <file>', 'config file (default: interlingua.yaml, if it exists)')
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal.out(text.trimEnd()),
      writeErr: text => terminal.fault(text.trimEnd()),
      outputError: (text, write) =>
        write(text.replace(UNKNOWN_COMMAND, (_, name: string) => unknownCommand(name, program))),
    })
  const config = (): string | undefined => program.opts<{ config?: string }>().config

  program
    .command('serve', { isDefault: true })
    .description('run the gateway (default)')
    .option('--host <host>', 'host to listen on; overrides the config', hostOf)
    .option('--port <port>', 'port to listen on; overrides the config', portOf)
    .action(async (options: { host?: string; port?: number }) => {
      const { serveCommand } = await import('./serve.ts')
      const configPath = config()
      await serveCommand(
        { ...options, ...(configPath === undefined ? {} : { config: configPath }) },
        version(),
        terminal,
      )
    })
  if (!serves(args)) (await import('./access-commands.ts')).accessCommands(program, config, terminal)
  if (!serves(args)) (await import('./channel-commands.ts')).channelCommands(program, config, terminal)
  program
    .command('examples')
    .description('print a sample curl command for each endpoint')
    .argument('[path]', 'path of an endpoint, or part of one (default: all)')
    .option('--key <key>', 'key for the commands (default: $INTERLINGUA_KEY, expanded by the shell)')
    .option('--address <url>', 'URL of the gateway (default: from the config)')
    .action(async (path: string | undefined, options: { key?: string; address?: string }) => {
      const { examplesCommand } = await import('./examples.ts')
      const configPath = config()
      examplesCommand(path, { ...options, ...(configPath === undefined ? {} : { config: configPath }) }, terminal)
    })
  program
    .command('usage')
    .description('show the usage and cost of requests')
    .addOption(new Option('--by <field>', 'field to group by').choices(USAGE_FIELDS).default('key'))
    .option('--since <time>', 'start: a duration before now such as 24h or 7d, or a time such as 2027-01-31', '24h')
    .option('--until <time>', 'end, in the same form (default: now)')
    .option('--csv', 'print comma-separated values')
    .option('--json', 'print JSON')
    .action(async (options: UsageOptions) => {
      const { usageCommand } = await import('./usage.ts')
      await usageCommand(options, config(), terminal)
    })
  const store = program.command('store').description('manage the store')
  store
    .command('encrypt-again')
    .description('encrypt the credentials of stored channels with the newest secret')
    .action(async () => (await import('./store.ts')).encryptAgainCommand(config(), terminal))
  store
    .command('migrate')
    .description('copy everything to another, empty database')
    .requiredOption('--from <store>', 'sqlite:PATH or postgres://…')
    .requiredOption('--to <store>', 'sqlite:PATH or postgres://…')
    .action(async (options: { from: string; to: string }) => {
      const { migrateCommand } = await import('./store.ts')
      await migrateCommand(options, terminal)
    })
  program
    .command('translate')
    .description('translate a request, result or stream between formats; prints the translation and its losses')
    .argument('[file]', 'file with the JSON value or event stream (default: standard input)')
    .requiredOption('--from <format>', 'format of the value')
    .requiredOption('--to <format>', 'target format')
    .addOption(new Option('--kind <kind>', 'kind of value').choices(['request', 'result', 'events']).default('request'))
    .option('--model <model>', 'model, if the value names none')
    .option('--asked <file>', 'file with the request that the result or stream answers, in the target format')
    .action(async (file: string | undefined, options: TranslateOptions) => {
      const { translateCommand } = await import('./translate.ts')
      translateCommand(file, options, terminal)
    })
  program
    .command('check')
    .description('validate the config')
    .argument('[file]', 'config file (default: that of --config)')
    .option('--schema', 'print the JSON Schema of config files instead')
    .action(async (file: string | undefined, { schema }: { schema?: true }) => {
      const { checkCommand, schemaCommand } = await import('./check.ts')
      if (schema) schemaCommand(terminal)
      else await checkCommand(file ?? config(), terminal)
    })
  program
    .command('doctor')
    .description(
      'check config, store, Redis and certificates, test each channel with a small request, and print what to do',
    )
    .action(async () => {
      const { doctorCommand } = await import('./doctor.ts')
      if (!(await doctorCommand(config(), terminal))) throw new Unhealthy()
    })
  program
    .command('init')
    .description('write a commented config from the keys in the environment')
    .option('--output <file>', 'new file for the config', 'interlingua.yaml')
    .action(async ({ output }: { output: string }) => {
      const { initCommand } = await import('./init.ts')
      initCommand(output, terminal)
    })
  program
    .command('import')
    .description('convert the config of another gateway')
    .argument('<gateway>', 'litellm, new-api, one-api or portkey')
    .argument(
      '<file>',
      'its config; for new-api and one-api the answer of GET /api/channel/, for models in the database of LiteLLM that of GET /model/info',
    )
    .option('--output <file>', 'new file for the config (default: standard output)')
    .action(async (gateway: string, file: string, options: { output?: string }) => {
      const { importConfigCommand } = await import('./import-config.ts')
      importConfigCommand(gateway, file, options, terminal)
    })
  if (!serves(args)) (await import('./recording-commands.ts')).recordings(program, terminal)
  if (!serves(args)) (await import('./conformance.ts')).conformance(program, terminal)
  return program
}
