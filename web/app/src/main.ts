document.body.append("dpscope");
