"""Where inputs come from, and how they are edited towards edges and made smaller."""
