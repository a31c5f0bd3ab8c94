/** An API key of the gateway that exists for some time. */
interface LivingKey {
  readonly id: string
  readonly secret: string
}

/** Keys that exist at the same time, besides the one of the config. */
const KEYS = 12

/** Creates, changes and revokes keys through the admin API while the streams run. */
export class Administrator {
  private readonly origin: string
  private readonly token: string
  private readonly keys: LivingKey[] = []
  private created = 0
  /** Changes that were made, and changes that the gateway refused, which it does while its store is away. */
  changes = 0
  refusals = 0

  constructor(origin: string, token: string) {
    this.origin = origin
    this.token = token
  }

  /** The secret of one of the keys, or undefined before there are any. */
  keyAt(index: number): string | undefined {
    return this.keys[index % Math.max(1, this.keys.length)]?.secret
  }

  /** Makes the next change. One key in three has its requests captured, and each is revoked after some time. */
  async change(): Promise<void> {
    if (this.keys.length >= KEYS) {
      const { id } = this.keys.shift()!
      // A key that could not be revoked is no longer used either.
      return void (await this.ask('DELETE', `/keys/${id}`))
    }
    const number = this.created++
    const key = await this.ask('POST', '/keys', {
      ...{ name: `soak-${number}`, rpm: 1_000_000, tpm: 1_000_000_000, concurrent: 10_000 },
      budget: { day: 1_000_000 },
      ...(number % 3 === 0 ? { capture: '10m' } : {}),
    })
    if (key === undefined) return
    this.keys.push(key as LivingKey)
    await this.ask('PATCH', `/keys/${(key as LivingKey).id}`, { note: 'changed', rpm: 2_000_000 })
  }

  private async ask(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${this.origin}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    this[answer.ok ? 'changes' : 'refusals']++
    return answer.ok && text !== '' ? JSON.parse(text) : undefined
  }
}
