import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { hrefOf } from '../href.ts'
import { common } from '../i18n/common.ts'
import { helpOpen } from '../keyboard.ts'
import { homeOf, type PageName, type PageRoute, ROUTES, SECTIONS } from '../routes.ts'
import { signOut } from '../session.ts'
import { isAdmin, session } from '../session-state.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { toastProblem } from '../ui/toast.tsx'
import { Looks } from './looks.tsx'

/** Sidebar with links to all pages. On narrow screens a button opens it. */
export function Nav() {
  const { path, query } = useLocation()
  const home = homeOf(isAdmin.value, Object.keys(query).length > 0)
  const side = useRef<HTMLDivElement>(null)
  // On narrow screens the sidebar closes after a page change.
  useEffect(() => side.current?.hidePopover?.(), [path])
  return (
    <>
      <header class="topbar">
        <button type="button" class="button plain only-icon" popovertarget="sidebar" aria-label={common().menu}>
          <Icon name="menu" size={20} />
        </button>
        <Brand />
      </header>
      <div class="sidebar" id="sidebar" ref={side} popover="auto">
        <Brand />
        <nav aria-label={common().navigation}>
          {SECTIONS.map(section => (
            <Section key={section} of={section} path={path} home={home} />
          ))}
        </nav>
        <Foot path={path} />
      </div>
    </>
  )
}

const Brand = () => (
  <a class="brand" href={hrefOf('/')}>
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M8 11h9.5a4.5 4.5 0 0 1 0 9H15M24 21h-9.5a4.5 4.5 0 0 1 0-9H17" />
    </svg>
    Interlingua
  </a>
)

interface SectionProps {
  readonly of: (typeof SECTIONS)[number]
  readonly path: string
  readonly home: PageName
}

/** Links to the pages of one section, below its name. */
const Section = ({ of, path, home }: SectionProps) => (
  <>
    <h2>{common().sections[of]}</h2>
    {ROUTES.filter(one => one.section === of && (isAdmin.value || one.adminOnly !== true)).map(page => (
      <PageLink key={page.name} {...page} isOpen={isAt(path, page.path) || (isAt(path, '/') && page.name === home)} />
    ))}
  </>
)

type LinkProps = Pick<PageRoute, 'name' | 'path' | 'icon' | 'key'> & { readonly isOpen: boolean }

const PageLink = ({ name, path, icon, isOpen }: LinkProps) => (
  <a href={hrefOf(path)} aria-current={isOpen ? 'page' : undefined}>
    <Icon name={icon} size={18} />
    <span>{common().pages[name]}</span>
  </a>
)

const isAt = (path: string, page: string): boolean => path.replace(/\/$/, '') === hrefOf(page).replace(/\/$/, '')

/** Bottom of the sidebar: theme, language, the signed-in user and signing out. */
function Foot({ path }: { readonly path: string }) {
  const { name, role } = session.value!.user
  const text = common()
  return (
    <div class="foot">
      <Looks />
      <div class="who">
        <a href={hrefOf('/account')} aria-current={isAt(path, '/account') ? 'page' : undefined}>
          <Icon name="account" size={18} />
          <span class="cut" title={name}>
            {name}
            <small>{text.role[role]}</small>
          </span>
        </a>
        <IconButton icon="keyboard" label={text.shortcuts.title} small onClick={() => (helpOpen.value = true)} />
        <IconButton icon="leave" label={text.signOut} small onClick={() => signOut().catch(toastProblem)} />
      </div>
    </div>
  )
}
