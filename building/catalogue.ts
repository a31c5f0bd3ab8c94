import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ACCOUNT_TABLE_FILE, type AccountTable } from '../src/upstreams/catalogue/account-prices.ts'
import { packagedRates } from '../src/upstreams/catalogue/index.ts'
import { type ModelTable, TABLE_FILE, type TableSource } from '../src/upstreams/catalogue/table.ts'
import { accountPricesOf } from './catalogue-prices.ts'
import { modelsOf, type TableRow } from './catalogue-rows.ts'

/*
 * `npm run catalogue` renews the committed tables of models and prices from the newest LiteLLM release in the Python
 * package index.
 */

const PACKAGE = 'litellm'
const TABLE = 'litellm/model_prices_and_context_window_backup.json'
const LICENCE = 'MIT'
/** Minimum number of models in a valid table. */
const FEWEST = 1000

/** Downloads the newest wheel with pip, which checks its hash, and unpacks it into `folder`. */
function unpackInto(folder: string): string {
  const python = (...args: string[]) =>
    execFileSync('python3', ['-m', ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  const pip = ['--no-deps', '--only-binary=:all:', '--no-cache-dir', '--disable-pip-version-check', '--quiet']
  python('pip', 'download', PACKAGE, ...pip, '--dest', folder)
  const wheel = readdirSync(folder).find(name => name.endsWith('.whl'))
  if (wheel === undefined) throw new Error(`pip gave no wheel of ${PACKAGE}`)
  python('zipfile', '--extract', join(folder, wheel), folder)
  return /^litellm-([^-]+)-/.exec(wheel)![1]!
}

/**
 * Source of the table.
 *
 * @throws Error if the package does not match its file name, or if its license does not allow this project to copy the
 * table.
 */
function sourceOf(metadata: string, version: string): TableSource {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(metadata)?.[1]
  if (field('Name') !== PACKAGE || field('Version') !== version)
    throw new Error(`the wheel is not ${PACKAGE} ${version}`)
  const licence = field('License-Expression') ?? field('License')
  if (licence !== LICENCE) throw new Error(`the licence of ${PACKAGE} is ${licence}, no longer ${LICENCE}`)
  return { package: `pypi:${PACKAGE}`, version, licence, date: new Date().toISOString().slice(0, 10) }
}

/** One line for each model so that the diff of a renewal shows what changed. */
function textOf({ source, models }: ModelTable): string {
  const lines = Object.entries(models).map(([name, model]) => `${JSON.stringify(name)}:${JSON.stringify(model)}`)
  return `{"source":${JSON.stringify(source)},\n"models":{\n${lines.join(',\n')}\n}}\n`
}

/** One line for each model, below its account. */
function textOfPrices(table: AccountTable): string {
  const accounts = Object.entries(table).map(([account, models]) => {
    const lines = Object.entries(models).map(([name, prices]) => `${JSON.stringify(name)}:${JSON.stringify(prices)}`)
    return `${JSON.stringify(account)}:{\n${lines.join(',\n')}\n}`
  })
  return `{${accounts.join(',\n')}}\n`
}

function main(): void {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-catalogue-'))
  try {
    const version = unpackInto(folder)
    const about = join(folder, `${PACKAGE}-${version}.dist-info`)
    const source = sourceOf(readFileSync(join(about, 'METADATA'), 'utf8'), version)
    const rows = JSON.parse(readFileSync(join(folder, TABLE), 'utf8')) as { readonly [id: string]: TableRow }
    const models = modelsOf(rows)
    const count = Object.keys(models).length
    if (count < FEWEST) throw new Error(`the table of ${PACKAGE} ${version} has ${count} models only`)
    mkdirSync(dirname(TABLE_FILE), { recursive: true })
    writeFileSync(TABLE_FILE, textOf({ source, models }))
    writeFileSync(ACCOUNT_TABLE_FILE, textOfPrices(accountPricesOf(rows, packagedRates)))
    writeFileSync(join(dirname(TABLE_FILE), 'LICENSE'), readFileSync(join(about, 'licenses/LICENSE')))
    console.log(`${count} models of ${PACKAGE} ${version}, ${source.date}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) main()
