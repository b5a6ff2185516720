import { defineConfig } from "vite";

const server = "http://127.0.0.1:7700";

export default defineConfig({
  // Relative, so that the page also works below a path of a reverse proxy.
  base: "./",
  build: {
    outDir: "../crates/memo-server/page",
    emptyOutDir: true,
    // With a limit, the icon is a file or a part of the script by chance, and builds would differ.
    assetsInlineLimit: 0,
    target: ["chrome123", "firefox128", "safari17.5"],
    modulePreload: { polyfill: false },
  },
  server: {
    // The server refuses foreign origins: the proxy speaks with its own.
    proxy: { "/api": { target: server, changeOrigin: true, headers: { origin: server } } },
  },
});
