import { useEffect } from 'preact/hooks'
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso'
import { common } from './i18n/common.ts'
import { hrefOf, PAGES } from './pages.ts'
import { session } from './session-state.ts'
import { Help } from './shell/help.tsx'
import { Nav } from './shell/nav.tsx'
import { NotFound } from './shell/not-found.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { Loading } from './ui/states.tsx'
import { Toasts } from './ui/toast.tsx'

const ROUTES = PAGES.map(page => ({ page, View: lazy(page.load) }))

/** The page that an address is of. */
const pageAt = (path: string) => PAGES.find(one => hrefOf(one.path).replace(/\/$/, '') === path.replace(/\/$/, ''))

export function App() {
  if (session.value === undefined) return <Loading lines={1} />
  return (
    <>
      {session.value === null ? <SignIn /> : <Shell />}
      <Toasts />
    </>
  )
}

const Shell = () => (
  <LocationProvider scope={/^\/console(\/|$)/}>
    <a class="skip" href="#content">
      {common().skip}
    </a>
    <Nav />
    <main id="content" tabIndex={-1}>
      <ErrorBoundary onError={fault => console.error(fault)}>
        <Router onRouteChange={entered}>
          {ROUTES.map(({ page, View }) => (
            <Route key={page.name} path={hrefOf(page.path)} component={View} />
          ))}
          <Route default component={NotFound} />
        </Router>
      </ErrorBoundary>
    </main>
    <Titled />
    <Help />
  </LocationProvider>
)

/** Where a reader of the screen is after a page was entered. */
function entered(): void {
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** Keeps the document's title that of the page. */
function Titled() {
  const { path } = useLocation()
  const page = pageAt(path)
  const title = page === undefined ? '' : `${common().pages[page.name]} · `
  useEffect(() => {
    document.title = `${title}Interlingua`
  }, [title])
  return null
}
