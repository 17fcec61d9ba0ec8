export default { ssr: { noExternal: true, external: ['spillway'] } }
