import './start.css'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { remembered } from '../../remembered.ts'
import { Page } from '../../ui/page.tsx'
import { usualFormat } from './choices.ts'
import type { Format } from './clients/client.ts'
import { CLIENTS } from './clients/index.ts'
import { ConnectionCard } from './connection.tsx'
import { SettingsCard } from './settings.tsx'
import { text } from './texts.ts'
import { TrialCard } from './trial/trial-card.tsx'
import { useConnection } from './use-connection.ts'

const lastClient = remembered<string>(
  'client',
  CLIENTS[0]!.id,
  CLIENTS.map(({ id }) => id),
)

/** Start page: connection, settings for each client, and a trial request. */
export default function Start() {
  const { query } = useLocation()
  const [clientChosen, setClient] = useState(query['client'] ?? lastClient.value)
  const [formats, setFormats] = useState<{ readonly [client: string]: Format }>({})
  const connection = useConnection()
  const client = CLIENTS.find(({ id }) => id === clientChosen) ?? CLIENTS[0]!
  const format = formats[client.id] ?? usualFormat(client, connection.model)
  return (
    <Page title={text().title} lead={text().lead}>
      <ConnectionCard of={connection} />
      <SettingsCard
        of={connection}
        client={client}
        format={format}
        onClient={({ id }) => {
          lastClient.value = id
          setClient(id)
        }}
        onFormat={next => setFormats({ ...formats, [client.id]: next })}
      />
      <TrialCard of={connection} format={format} />
    </Page>
  )
}
