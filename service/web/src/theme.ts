// Sets the theme before the first paint, so that the page does not flicker.
const chosen = localStorage.getItem("literati.theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
