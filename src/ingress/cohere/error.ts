export { readRetrievalError as readError } from '../errors/retrieval-error.ts'
