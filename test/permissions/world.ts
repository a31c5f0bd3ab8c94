import { randomUUID } from 'node:crypto'
import { freshSecret } from '../../src/accounts/secret.ts'
import type { ChannelConfig } from '../../src/config/index.ts'
import { CALLER_FORMATS } from '../../src/formats/index.ts'
import type { StoredKey } from '../../src/store/access-records.ts'
import { AdminServer } from '../builders/admin.ts'
import { ANSWER } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { addUser, SignedIn } from '../builders/console.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { openVideoUpstream, PIXEL, type VideoScene } from '../video/upstreams/index.ts'
import { formatsWithout } from './endpoints.ts'
import type { PrincipalName } from './rules.ts'

/** Words of the owner, which nobody else may read. */
export const WORDS = 'the owner alone reads this'

type Headers = { readonly [name: string]: string }

const MODEL = 'm'
const FILM = 'film'
/** The model of voice sessions. Its upstream opens none. */
const VOICE = 'voice'
const DAY = 86_400_000

/** A gateway with a channel for conversations and one for videos, and senders of every kind. */
export class World {
  readonly admin: AdminServer
  private readonly upstream: FakeUpstream
  private readonly videos: VideoScene
  private readonly keys = new Map<string, string>()
  private readonly sessions = new Map<string, SignedIn>()

  private constructor(admin: AdminServer, upstream: FakeUpstream, videos: VideoScene) {
    this.admin = admin
    this.upstream = upstream
    this.videos = videos
  }

  static async open(): Promise<World> {
    const upstream = await FakeUpstream.open(response =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER)),
    )
    const named: ChannelConfig['models'] = { named: new Map([[FILM, 'kling-v2-1']]), patterns: [] }
    const videos = await openVideoUpstream('kling', { fields: { models: named } })
    const chat = { ...channelAt(upstream.address), name: 'chat' }
    const spoken: ChannelConfig['models'] = { named: new Map([[VOICE, VOICE]]), patterns: [] }
    const voice = { ...channelAt(upstream.address, { format: 'realtime', models: spoken }), name: 'voice' }
    const world = new World(await AdminServer.open([chat, voice, videos.channel]), upstream, videos)
    await world.addKeys()
    for (const role of ['viewer', 'admin'] as const) {
      await addUser(world.admin.store, role, { role })
      world.sessions.set(role, await SignedIn.at(world.server, role))
    }
    return world
  }

  get server() {
    return this.admin.testServer
  }

  /** Returns the headers by which a sender shows who it is. */
  async headers(principal: PrincipalName, format?: string): Promise<Headers> {
    if (principal === 'nobody') return { authorization: '' }
    const session = this.sessions.get(principal.split('-session')[0]!)
    if (session !== undefined && principal.includes('-session')) {
      const csrf: Headers = principal.endsWith('-without-csrf') ? {} : { 'x-csrf-token': session.csrf }
      return { authorization: '', cookie: session.cookie, 'sec-fetch-site': 'same-origin', ...csrf }
    }
    const secret = principal === 'client-secret' ? await this.clientSecret() : this.secretOf(principal, format)
    return { authorization: `Bearer ${secret}` }
  }

  /** Creates an object of each kind for the owner, and returns the path of an endpoint with their ids. */
  async pathTo(pattern: string): Promise<string> {
    if (!pattern.includes(':id')) return pattern.replaceAll(/\{[^}]+\}/g, 'absent')
    const video = pattern.includes('/video')
    const id = video ? await this.video(pattern) : await this.stored(pattern)
    const item = pattern.includes(':item') ? await this.item(id) : ''
    return pattern.replace(':id', id).replace(':item', item)
  }

  async close(): Promise<void> {
    await this.admin.close()
    await this.upstream.close()
    await this.videos.upstream.close()
  }

  private secretOf(principal: PrincipalName, format = 'chat'): string {
    if (principal === 'admin-token') return this.admin.token
    return this.keys.get(principal === 'key-of-other-format' ? `not-${format}` : principal)!
  }

  /** Returns one client secret, which no request but that for a session ends. New unknown secrets would be delayed. */
  private async clientSecret(): Promise<string> {
    const known = this.keys.get('client-secret')
    if (known !== undefined) return known
    const headers = await this.headers('owner')
    const session = { type: 'realtime', model: VOICE }
    const { json, text } = await this.server.ask('/v1/realtime/client_secrets', { session }, { headers })
    if (typeof json.value !== 'string') throw new Error(text)
    this.keys.set('client-secret', json.value)
    return json.value
  }

  private async addKeys(): Promise<void> {
    const { access } = this.admin.store
    const now = Date.now()
    const others = freshSecret('iladm', now - DAY)
    await access.addToken({ id: randomUUID(), name: 'expired', ...others.secret, expiresAt: now - 1000 })
    await access.putGroup({ name: 'others', models: ['*'], limits: {}, onLoss: 'show', createdAt: now })
    this.keys.set('expired-admin-token', others.text)
    this.keys.set('unknown-key', freshSecret('il', now).text)
    await this.addKey('owner')
    await this.addKey('key-of-other-group', { group: 'others' })
    await this.addKey('disabled-key', { enabled: false })
    await this.addKey('revoked-key')
    await this.addKey('expired-key', { expiresAt: now - 1000 })
    await access.revokeKey('revoked-key', now)
    for (const format of CALLER_FORMATS.keys()) await this.addKey(`not-${format}`, { doors: formatsWithout(format) })
    await this.admin.get('/keys')
  }

  private async addKey(id: string, fields: Partial<StoredKey> = {}): Promise<void> {
    const { text, secret } = freshSecret('il', Date.now() - DAY)
    const base = { id, name: id, group: 'default', createdAt: Date.now(), enabled: true, limits: {}, secrets: [secret] }
    if (!(await this.admin.store.access.createKey({ ...base, ...fields }))) throw new Error(`key ${id} exists already`)
    this.keys.set(id, text)
  }

  private async created(path: string, body: object): Promise<string> {
    const answer = await this.server.ask(path, body, { headers: await this.headers('owner') })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
    return answer.json.id ?? answer.json.task_id ?? answer.json.data.task_id
  }

  private stored(pattern: string): Promise<string> {
    if (pattern.includes('/interactions/')) return this.created('/v1beta/interactions', { model: MODEL, input: WORDS })
    return pattern.startsWith('/v1/responses')
      ? this.created('/v1/responses', { model: MODEL, input: WORDS })
      : this.created('/v1/conversations', { metadata: { words: WORDS } })
  }

  private async item(conversation: string): Promise<string> {
    const message = { type: 'message', role: 'user', content: [{ type: 'input_text', text: WORDS }] }
    const headers = await this.headers('owner')
    const path = `/v1/conversations/${conversation}/items`
    return (await this.server.ask(path, { items: [message] }, { headers })).json.data[0].id
  }

  private video(pattern: string): Promise<string> {
    const path = pattern.startsWith('/v1/videos') ? '/v1/videos' : pattern.replace('/:id', '')
    const vendors = path.startsWith('/videovendor')
    const image = path.endsWith('image2video') ? { image: PIXEL.toString('base64') } : {}
    return this.created(path, { [vendors ? 'model_name' : 'model']: FILM, prompt: WORDS, ...image })
  }
}
