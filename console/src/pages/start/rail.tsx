import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Client } from './clients/client.ts'
import { CLIENTS, GROUPS } from './clients/index.ts'
import { text } from './texts.ts'

interface RailProps {
  readonly client: Client
  readonly onClient: (client: Client) => void
  readonly children: ComponentChildren
}

const STEPS: { readonly [key: string]: number } = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }

/** Clients as vertical tabs, with the panel of the chosen client. Arrow keys move between the tabs. */
export function Rail({ client, onClient, children }: RailProps) {
  const id = useId()
  const host = useRef<HTMLDivElement>(null)
  const words = text()
  const move = (event: KeyboardEvent): void => {
    const at = CLIENTS.indexOf(client)
    const step = STEPS[event.key]
    const to = { Home: 0, End: CLIENTS.length - 1 }[event.key] ?? (step === undefined ? undefined : at + step)
    if (to === undefined) return
    event.preventDefault()
    const next = CLIENTS[(to + CLIENTS.length) % CLIENTS.length]!
    onClient(next)
    host.current?.querySelector<HTMLElement>(`[data-client="${next.id}"]`)?.focus()
  }
  useEffect(() => {
    const list = host.current!
    const tab = list.querySelector<HTMLElement>('[aria-selected=true]')!
    // On narrow screens the tabs are one scrolling line. `scrollIntoView` would also scroll the page.
    list.scrollLeft = tab.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2
  }, [client])
  return (
    <div class="railed">
      <div ref={host} class="rail" role="tablist" aria-label={words.clients} onKeyDown={move}>
        {GROUPS.map(group => (
          <div key={group} class="rail-group" role="presentation">
            <span class="rail-title" role="presentation">
              {words.groups[group]}
            </span>
            {CLIENTS.filter(one => one.group === group).map(one => (
              <button
                key={one.id}
                id={`${id}-${one.id}`}
                data-client={one.id}
                type="button"
                role="tab"
                aria-selected={one === client}
                aria-controls={`${id}-panel`}
                tabIndex={one === client ? 0 : -1}
                onClick={() => onClient(one)}
              >
                {one.name}
              </button>
            ))}
          </div>
        ))}
      </div>
      <div id={`${id}-panel`} class="panel" role="tabpanel" aria-labelledby={`${id}-${client.id}`}>
        {children}
      </div>
    </div>
  )
}
