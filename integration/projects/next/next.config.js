export default { serverExternalPackages: ['spillway'] }
